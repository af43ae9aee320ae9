"""Small experiments, trained with our own backward passes.

Read in this order: embedding, layer_norm, feed_forward, cross_entropy, adam (the parts); block,
model, initial (put together); tasks, text, ceiling (what is learned, and the best that a model
without order can do); task, setting, loop, evaluate, checkpoint, run, published (from a seed to
the table).
"""
