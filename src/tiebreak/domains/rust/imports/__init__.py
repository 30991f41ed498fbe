"""Tasks and traces that others made: specs as model replies, case folders, blueprints, held-out traces."""
