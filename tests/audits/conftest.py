from hypothesis import settings

# a loaded machine is no reason to fail
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
