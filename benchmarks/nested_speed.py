def reading(): "x"
def scale(): "x"
def parts(): "x"
