/**
 * Whether a text field can hold a value at all, and what it takes if not.
 *
 * Only what the control itself would refuse or cut: what the page thinks of a value, it says itself.
 */

const EXAMPLES: Readonly<Record<string, string>> = {
  date: 'a date such as 2026-11-30',
  'datetime-local': 'a date and time such as 2026-11-30T14:30',
  month: 'a month such as 2026-11',
  number: 'a number such as 12.5',
  time: 'a time such as 14:30',
  week: 'a week such as 2026-W48',
};

/** Returns why a value cannot be held; nothing when it can. */
export function refusedText(
  field: HTMLInputElement | HTMLTextAreaElement,
  value: string,
): string | undefined {
  if (field.maxLength >= 0 && value.length > field.maxLength) {
    return `it takes at most ${field.maxLength} characters, not ${value.length}`;
  }
  if (!(field instanceof HTMLInputElement)) return undefined;
  if (field.type === 'color') {
    return /^#[0-9a-f]{6}$/i.test(value) ? undefined : 'it takes a colour such as #ff8800';
  }
  if (field.type === 'range') return refusedRange(field, value);
  const wanted = EXAMPLES[field.type];
  if (wanted === undefined) {
    return /[\r\n]/.test(value) ? 'it has one line; leave the line breaks out' : undefined;
  }
  return holds(field.type, value) ? undefined : `it takes ${wanted}`;
}

// A control of the same kind that nobody sees empties itself of what it cannot hold.
function holds(type: string, value: string): boolean {
  const probe = document.createElement('input');
  probe.type = type;
  probe.value = value;
  return probe.value !== '' || value === '';
}

function refusedRange({ min, max }: HTMLInputElement, value: string): string | undefined {
  const least = min === '' ? 0 : Number(min);
  const most = max === '' ? 100 : Number(max);
  const number = value.trim() === '' ? Number.NaN : Number(value);
  const isRight = number >= least && number <= most;
  return isRight ? undefined : `it takes a number from ${least} to ${most}`;
}
