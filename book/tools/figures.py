def make(book, name): return f'<figure class="figure" id="fig-{name}"><figcaption>{name}</figcaption></figure>'
def map(book, parts): return f'<div class="map">{parts}</div>'
