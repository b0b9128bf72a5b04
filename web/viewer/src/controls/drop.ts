/**
 * Files that are dropped on the page, and the picker for those who cannot drop.
 *
 * One file at a time; what it is, the loader finds out. Addresses that are dropped as links work
 * too.
 */

/** What comes of a drop. */
export interface DropTarget {
  file(file: File): void;
  url(address: string): void;
}

/** Listens to the whole page; the attribute `data-dropping` is there while a file hovers. */
export function attachDrop(target: DropTarget): void {
  const page = document.documentElement;
  window.addEventListener('dragover', (event) => {
    event.preventDefault();
    page.dataset.dropping = '';
  });
  window.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) delete page.dataset.dropping;
  });
  window.addEventListener('drop', (event) => {
    event.preventDefault();
    delete page.dataset.dropping;
    const file = event.dataTransfer?.files[0];
    const address = event.dataTransfer?.getData('text/uri-list').split('\n')[0];
    if (file !== undefined) target.file(file);
    else if (address) target.url(address);
  });
}

/** Makes the hidden file field give its file to the target. */
export function attachPicker(field: HTMLInputElement, target: DropTarget): void {
  field.addEventListener('change', () => {
    const file = field.files?.[0];
    // The same file can be chosen again.
    field.value = '';
    if (file !== undefined) target.file(file);
  });
}
