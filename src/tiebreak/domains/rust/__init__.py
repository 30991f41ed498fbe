"""The Rust domain: a tool-use agent that repairs small crates."""
