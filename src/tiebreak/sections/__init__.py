"""The sections of a study file, one module each, so that an edit to one reruns only the stages that read it."""
