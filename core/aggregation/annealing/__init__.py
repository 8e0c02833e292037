"""Moving areas between neighbouring regions at a falling temperature: what anonymity exchange does, part by part."""
