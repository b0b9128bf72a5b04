// Reports the file of an input: its name, type and size, and a number made of all its bytes.
function tellFiles(id) {
  document.getElementById(id).addEventListener('change', async ({ target }) => {
    const [file] = target.files;
    let sum = 0;
    for (const byte of new Uint8Array(await file.arrayBuffer())) sum = (sum * 31 + byte) >>> 0;
    report(id, [file.name, file.type, file.size, sum]);
  });
}
