"""The bundled probe pack, declared like a third party's."""
