"""Vectors, matrices and tensors as components: equations of indices, columns, shapes."""
