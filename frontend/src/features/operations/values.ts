import type { ElectionVerdict } from '@/gql/operations';

/** What the journal and the facts of a plan hold: whatever JSON can, of any kind of operation. */
export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is a list of things with fields. */
export function isList(value: unknown): value is Fields[] {
  return Array.isArray(value) && value.length > 0 && value.every(isFields);
}

/** Whether there is nothing in a list, or nothing under any name. */
export function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** The same with all names in one order: the database keeps none, what was just planned has its own. */
export function inOneOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOneOrder);
  if (!isFields(value)) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, inOneOrder(one)] as const);
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Whether the things of a list are read well in one line: none has anything within it. */
export function isPlain(list: unknown[]): boolean {
  return list.every((one) => ['string', 'number'].includes(typeof one));
}

/** Whether the things of a list have plain fields only, so that they are best read as a table. */
export function isFlat(list: Fields[]): boolean {
  return list.every((fields) =>
    Object.values(fields).every((value) => isEmpty(value) || (!isFields(value) && !isList(value))),
  );
}

/** Why a candidate of an election wins or does not, as the facts of its plan spell it. */
const electionVerdicts: ReadonlySet<string> = new Set(
  Object.keys({
    ASKED_LATER: true,
    CORDONED: true,
    HIGHER_ID: true,
    LOWER_EPOCH: true,
    LOWER_OFFSET: true,
    LOWER_PRIORITY: true,
    MASTER_STAYS: true,
    NOT_ALIVE: true,
    LACKS_CONFIRMED: true,
    NOT_DESIGNATED: true,
    NOT_IN_SYNC: true,
    NOT_PREFERRED: true,
    STAYS: true,
    UNVERIFIED: true,
    WINS: true,
  } satisfies Record<ElectionVerdict, true>).map((verdict) => verdict.toLowerCase()),
);

export type JournalRow = {
  name: string;
  /** Absent where the whole value is. */
  before: unknown;
  after: unknown;
  isChanged: boolean;
};

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Lays a value before a step beside the value after it, field by field, the changed ones first. */
export function journalRows(before: unknown, after: unknown): JournalRow[] {
  const then = isFields(before) ? before : {};
  const now = isFields(after) ? after : {};
  const hasBoth = isFields(before) && isFields(after);
  const rows = [...new Set([...Object.keys(then), ...Object.keys(now)])].map((name) => ({
    name,
    before: then[name],
    after: now[name],
    isChanged: hasBoth && !isSame(then[name], now[name]),
  }));
  return [...rows.filter((row) => row.isChanged), ...rows.filter((row) => !row.isChanged)];
}

/** The key of the words for a value that is a code of the control plane, by the field it is in. */
export function wordOfCode(name: string, value: unknown): `electionVerdict.${string}` | undefined {
  if (name !== 'verdict' || typeof value !== 'string' || !electionVerdicts.has(value)) return;
  return `electionVerdict.${value}`;
}

const identity = /(^|_)(id|name)$/;

/** The names of all fields of a table; the fields that identify a row stand first. */
export function columnNames(rows: Fields[]): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [
    ...names.filter((name) => identity.test(name)),
    ...names.filter((name) => !identity.test(name)),
  ];
}
