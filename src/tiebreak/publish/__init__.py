"""What leaves the machine: releases, their crate, and the verification of what was released."""
