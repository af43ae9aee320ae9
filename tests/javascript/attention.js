// Shaw's relative attention as four loops over flat arrays, last axis fastest.
module.exports = function attention(inputs, query_start) {
  const { query, key, value, relative_key_table, relative_value_table, mask } = inputs;
  const [batch, heads, query_len, head_dim] = query.shape;
  const [key_len, value_dim] = value.shape.slice(2);
  const output = [];
  for (let b = 0; b < batch; b++) for (let h = 0; h < heads; h++) for (let i = 0; i < query_len; i++) {
    const lead = b * heads + h;
    const scores = [];
    for (let j = 0; j < key_len; j++) {
      let sum = 0;
      for (let d = 0; d < head_dim; d++) {
        sum += query.data[(lead * query_len + i) * head_dim + d]
          * (key.data[(lead * key_len + j) * head_dim + d] + row(relative_key_table, h, j - i, d));
      }
      scores.push(allowed(b, h, i, j) ? sum / Math.sqrt(head_dim) : -Infinity);
    }
    const largest = Math.max(...scores);
    const shares = scores.map((s) => (largest === -Infinity ? 0 : Math.exp(s - largest)));
    const total = shares.reduce((a, s) => a + s, 0) || 1;
    for (let e = 0; e < value_dim; e++) {
      let sum = 0;
      for (let j = 0; j < key_len; j++) {
        sum += shares[j] / total * (value.data[(lead * key_len + j) * value_dim + e]
          + row(relative_value_table, h, j - i, e));
      }
      output.push(sum);
    }
  }
  return output;

  function row(table, h, distance, d) { // a table is (rows, d), or one such per head
    if (!table) return 0;
    const [rows, width] = table.shape.slice(-2), k = (rows - 1) / 2;
    const r = Math.max(-k, Math.min(k, distance - query_start)) + k;
    return table.data[((table.shape.length === 3 ? h * rows : 0) + r) * width + d];
  }

  function allowed(b, h, i, j) { // the mask broadcasts to (b, h, i, j)
    if (!mask) return true;
    const shape = [...Array(4 - mask.shape.length).fill(1), ...mask.shape];
    const at = [b, h, i, j].reduce((n, x, axis) => n * shape[axis] + (shape[axis] === 1 ? 0 : x), 0);
    return Boolean(mask.data[at]);
  }
};
