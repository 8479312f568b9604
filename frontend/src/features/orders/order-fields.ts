import type { PlanInput } from '@/gql/operations';
import { countIn, type Field, flagIn, namesIn, textIn, type Value, type Values } from './field';
import orders from './orders.json';

/** A field of an order as the control plane describes it. */
type Described = {
  type: string;
  low?: number;
  high?: number | null;
  lengthMax?: number | null;
  countMax?: number;
  choices?: string[];
  initial?: string | number | boolean | null;
};

type DescribedName = keyof typeof orders;
export type OrderName = DescribedName & keyof PlanInput;

/** What a form knows of a field beyond its description. */
export type Known = {
  initial?: string | boolean;
  /** What it is now, where that is one thing. */
  present?: Value;
  /** The names that there are to choose from. */
  names?: readonly string[];
};

/** The keys of the words for the choices of a field; others are shown as they are. */
const wordsOfChoices: Record<string, (value: string) => string> = {
  destination: (value) => `deadLetterDestination.${value}`,
  messageType: (value) => `messageType.${value}`,
};

function describedFields(order: DescribedName): Record<string, Described> {
  return orders[order];
}

export function describedField(order: DescribedName, name: string): Described {
  const described = describedFields(order)[name];
  if (described === undefined) throw new Error(`${order} has no field ${name}`);
  return described;
}

function countField(name: string, { low = 0, high, initial }: Described, known: Known): Field {
  const range = { name, kind: 'count', low, high: high ?? 0 } as const;
  if (typeof initial === 'number') return { ...range, initial };
  const present = typeof known.present === 'number' ? known.present : null;
  return { ...range, initial: null, present };
}

function choiceField(order: OrderName, name: string, { choices = [], initial }: Described): Field {
  const listed = choices.map((value) => ({ value, word: wordsOfChoices[name]?.(value) ?? null }));
  if (typeof initial === 'string') {
    return { name, kind: 'choice', choices: listed, initial, none: null };
  }
  const none = order.startsWith('create') ? 'field.notSaid' : 'field.asItIs';
  return { name, kind: 'choice', choices: listed, initial: null, none };
}

function fieldOf(order: OrderName, name: string, known: Known): Field {
  const described = describedField(order, name);
  const { initial = null, lengthMax, countMax = 0 } = described;
  const isGiven = typeof known.present === 'boolean';
  switch (described.type) {
    case 'flag':
      return { name, kind: 'flag', initial: (known.initial ?? initial) === true };
    case 'yesNo':
      return { name, kind: 'yesNo', present: isGiven ? known.present === true : null };
    case 'count':
      return countField(name, described, known);
    case 'choice':
      return choiceField(order, name, described);
    case 'names':
      return { name, kind: 'names', known: known.names ?? null, countMax };
    default:
      return {
        name,
        kind: 'name',
        lengthMax: lengthMax ?? 0,
        initial: typeof known.initial === 'string' ? known.initial : '',
      };
  }
}

/** The fields that a form asks for: all of an order but those that are given. */
export function fieldsOf(
  order: OrderName,
  given: readonly string[],
  known: Readonly<Record<string, Known>> = {},
): Field[] {
  return Object.keys(describedFields(order))
    .filter((name) => !given.includes(name))
    .map((name) => fieldOf(order, name, known[name] ?? {}));
}

function valueIn(field: Field, values: Values): Value {
  const { name } = field;
  switch (field.kind) {
    case 'flag':
      return flagIn(values, name) ?? field.initial;
    case 'yesNo':
      return flagIn(values, name);
    case 'count':
      return countIn(values, name) ?? field.initial;
    case 'choice':
      return field.choices.find(({ value }) => value === values[name])?.value ?? field.initial;
    case 'names':
      return namesIn(values, name);
    default:
      return textIn(values, name);
  }
}

/** The order that comes of what is given and what is filled in. */
export function planOf<Name extends OrderName>(
  order: Name,
  given: Partial<NonNullable<PlanInput[Name]>>,
  fields: readonly Field[],
  values: Values,
): PlanInput {
  const filled = Object.fromEntries(fields.map((field) => [field.name, valueIn(field, values)]));
  const plan: unknown = { [order]: { ...given, ...filled } };
  // Its fields and their types are those of the order, which both are made from.
  return plan as PlanInput;
}
