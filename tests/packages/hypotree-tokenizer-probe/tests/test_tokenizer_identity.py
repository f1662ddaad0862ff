"""All that a probe's own package needs to test."""

from hypotree_tokenizer_probe import TokenizerIdentity

from hypotree.testing import check_probe


def test_the_probe_confirms_its_fault_and_clears_its_twin():
    check_probe(TokenizerIdentity)
