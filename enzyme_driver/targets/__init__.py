"""The last stages: the module with gradients becomes a binary of each target."""
