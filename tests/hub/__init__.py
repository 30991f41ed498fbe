"""A small, strict hub on the loopback: what huggingface_hub asks of one, kept in a folder; with faults on demand."""
