"""Tiebreak: reward-shape studies of reinforcement learning with verifiable rewards, end to end."""
