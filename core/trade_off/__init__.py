"""The trade-off, searched: what coarser attributes buy in finer regions, within a suppression budget."""
