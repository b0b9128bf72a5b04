/**
 * From the names of fields to fields that are there and take their values; nothing is changed.
 *
 * A label means the field whose accessible name it is, else the only one whose name begins with it
 * or has it in it. All that is wrong with any field is told at once.
 */

import { CommandError } from '../../command';
import type { LabelMatch } from '../../content/api';
import { quoted } from '../../quoted';
import { ALL } from '../page/content-calls';
import { onElement, type Target } from '../page/elements';
import type { Page } from '../page/page';
import { numberDocuments, printReference } from '../tab/documents';
import { type FieldWish, nameOf, type ReadyField } from './form-fields';

const TOLD_TROUBLES = 5;

/** Finds and checks all fields; what is wrong is told with `remark`. Touches nothing. */
export async function resolveFields(
  page: Page,
  wishes: readonly FieldWish[],
  remark = '; nothing was filled',
): Promise<ReadyField[]> {
  const labels = await findLabelled(page, wishes);
  const ready: ReadyField[] = [];
  const troubles: Array<{ wish: FieldWish; error: CommandError }> = [];
  for (const wish of wishes) {
    try {
      ready.push(await resolveField(page, wish, labels.get(wish) ?? []));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      troubles.push({ wish, error });
    }
  }
  troubles.push(...doubles(ready));
  const [first] = troubles;
  if (first === undefined) return ready;
  const told = troubles.slice(0, TOLD_TROUBLES).map(({ wish, error }) => {
    return `${nameOf({ wish })}: ${error.message}`;
  });
  const more = troubles.length - told.length;
  const rest = more > 0 ? `; ${more} more fields have trouble` : '';
  throw new CommandError(first.error.code, `${told.join('; ')}${rest}${remark}`);
}

async function resolveField(
  page: Page,
  wish: FieldWish,
  matches: readonly Labelled[],
): Promise<ReadyField> {
  const target: Target =
    wish.by === 'label' ? { ref: meant(wish, matches) } : { [wish.by]: wish.named };
  const found = await onElement(page, target, (locator) => ({
    method: 'planField',
    args: [locator, wish.value],
  }));
  const { document, value: plan } = found;
  const ref = printReference({ document, element: plan.element.ref });
  return { wish, ref, document, plan };
}

interface Labelled extends LabelMatch {
  readonly ref: string;
}

/** Returns, for each wish with a label, the fields of all frames that it may mean. */
async function findLabelled(
  page: Page,
  wishes: readonly FieldWish[],
): Promise<Map<FieldWish, Labelled[]>> {
  const asking = wishes.filter(({ by }) => by === 'label');
  const found = new Map<FieldWish, Labelled[]>();
  if (asking.length === 0) return found;
  const labels = asking.map(({ named }) => named);
  const answers = await page.read({ where: ALL, method: 'labelled', args: [labels] });
  const numbered = await numberDocuments(page.tabId, answers);
  for (const [at, wish] of asking.entries()) {
    const matches = answers.flatMap(({ value }, frame) => {
      const document = numbered[frame]?.n ?? 0;
      return (value[at] ?? []).map((match) => ({
        ...match,
        ref: printReference({ document, element: match.element.ref }),
      }));
    });
    const best = Math.min(...matches.map(({ grade }) => grade));
    found.set(
      wish,
      matches.filter(({ grade }) => grade === best),
    );
  }
  return found;
}

function meant({ named }: FieldWish, matches: readonly Labelled[]): string {
  const [only, other] = matches;
  if (only === undefined) {
    throw new CommandError(
      'ELEMENT_NOT_FOUND',
      `no field is called ${quoted(named)}; look with browser_snapshot, or use its ref`,
    );
  }
  if (other === undefined) return only.ref;
  const list = matches.map(({ element: { role, name }, ref }) => {
    return `${role} ${quoted(name)} (${ref})`;
  });
  throw new CommandError(
    'INVALID_ARGUMENT',
    `${quoted(named)} may mean ${list.join(', ')}; name it by ref`,
  );
}

/** Two values for one field: only one of them can be meant. */
function doubles(ready: readonly ReadyField[]): Array<{ wish: FieldWish; error: CommandError }> {
  return ready.flatMap(({ wish, ref, plan }, at) => {
    const earlier = ready.slice(0, at).find((other) => other.ref === ref);
    // Radio buttons of one group may be named one by one.
    if (earlier === undefined || plan.element.role === 'radio') return [];
    const message = `it is the same field as ${nameOf(earlier)}; give it one value`;
    return [{ wish, error: new CommandError('INVALID_ARGUMENT', message) }];
  });
}
