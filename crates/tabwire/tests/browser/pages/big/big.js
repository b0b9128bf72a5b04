// What the large pages have in common: they say what can be worked with, and what was clicked.
// Everything that can be worked with carries its name in `data-n`.

document.addEventListener('click', (event) => {
  const thing = event.composedPath().find((it) => it.dataset?.n);
  if (thing) report('clicked', thing.dataset.n);
});

// All names, in this document and its open shadow roots.
function things(root = document) {
  const found = [];
  for (const element of root.querySelectorAll('*')) {
    if (element.dataset.n) found.push(element.dataset.n);
    if (element.shadowRoot) found.push(...things(element.shadowRoot));
  }
  return found;
}

function tellThings() {
  report('things', things());
}

// A thing to click on, as HTML.
function button(name) {
  return `<button data-n="${name}">${name}</button>`;
}

function link(name) {
  return `<a href="#${encodeURIComponent(name)}" data-n="${name}">${name}</a>`;
}

function fresh(parent, name = 'Fresh') {
  parent.insertAdjacentHTML('beforeend', button(name));
  report('changed', name);
}

function times(count, write) {
  return Array.from({ length: count }, (_, n) => write(n + 1)).join('');
}
