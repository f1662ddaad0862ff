"""A small engine in SGLang's layout, our own code: what planted cases and the demo are run on."""

from hypotree_probes.engines.tiny.package import plant_engine

__all__ = ["plant_engine"]
