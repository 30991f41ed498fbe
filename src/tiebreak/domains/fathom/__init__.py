"""The fathom domain: questions over a long document, answered with a Python REPL and recursive `llm()` calls."""
