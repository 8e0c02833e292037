"""File systems that are simulated, and every fault that can be injected into a delivery on them."""
