"""The version of adgen, for the package, the manifest and the cache key."""

__version__ = "0.1.0"
