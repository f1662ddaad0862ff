"""Run an engine's own model files in a locked-in process, without installing the engine.

`client` is our side; everything else runs in the child: `importer` serves the engine's
package, `standins` its leaf layers in plain torch, `stubs` all the rest, and `draft`,
`targets` and `resolver` ask it the questions.
"""
