// A worker of any kind: a shared one says that it is up, one of a page what it gets from the site.
if ('onconnect' in self) self.onconnect = ({ ports }) => ports[0].postMessage('up');
else if ('DedicatedWorkerGlobalScope' in self) {
  fetch('/data?worker').then(async (answer) => postMessage(await answer.text()));
}
