// What pages of tasks share. A task is done when its page says so, by what it has become itself.

// Tells the test that the task is done, and what came of it.
function done(data) {
  report('done', data);
}

// Tells the test what a right answer is. Only the page and the test know it.
function expect(answer) {
  report('expected', String(answer));
}

function at(id) {
  return document.getElementById(id);
}

// A word that nobody can know beforehand.
function chance(length = 6) {
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
  const numbers = crypto.getRandomValues(new Uint32Array(length));
  return [...numbers].map((number) => letters[number % letters.length]).join('');
}

// Makes an element with properties and children.
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
