import type { PlanInput } from '@/gql/operations';
import { type Described, fieldOf, type Known } from './described-field';
import {
  countIn,
  type Field,
  flagIn,
  linesOf,
  namesIn,
  shownOf,
  textIn,
  type Value,
  type Values,
} from './field';
import type { OrderKind } from './order-kind';
import orders from './orders.json';

type DescribedName = keyof typeof orders;
type OrderName = DescribedName & keyof PlanInput;
type Pair = { name: string; value: string };

/** What a page knows of an order before its form is filled in. */
type Form<Given> = {
  /** The family of words, where the name of the order is none. */
  word?: string;
  target: string;
  given: Given;
  /** What no form asks for. */
  leftOut?: readonly string[];
  known?: Readonly<Record<string, Known>>;
  /** Fields of the form alone: they come first, and are no part of the order. */
  own?: readonly Field[];
};

export function describedField(order: DescribedName, name: string): Described {
  const described: Record<string, Described> = orders[order];
  const one = described[name];
  if (one === undefined) throw new Error(`${order} has no field ${name}`);
  return one;
}

/** All fields of an order but those that are given, without choices that need one that is left out. */
function fieldsOf(
  order: DescribedName,
  { given, leftOut = [], known = {} }: Form<object>,
): Field[] {
  const described: Record<string, Described> = orders[order];
  const isAsked = (name: string) => !(name in given) && !leftOut.includes(name);
  const closed = leftOut.map((name) => described[name]?.onlyWith);
  const absence = { key: order.startsWith('change') ? 'absence.asItIs' : 'absence.notSaid' };
  return Object.entries(described).flatMap(([name, one]) => {
    if (!isAsked(name)) return [];
    const open = one.choices?.filter(
      (value) => !closed.some((other) => other?.name === name && other.value === value),
    );
    return [fieldOf(name, { ...one, ...(open && { choices: open }) }, known[name] ?? {}, absence)];
  });
}

function pairsIn(values: Values, name: string): Pair[] {
  return linesOf(textIn(values, name)).map((line) => {
    const mark = line.indexOf('=');
    return { name: line.slice(0, mark).trim(), value: line.slice(mark + 1) };
  });
}

function givenIn(field: Field, value: Value): Value | number[] | Pair[] {
  const { name } = field;
  const values = { [name]: value };
  switch (field.kind) {
    case 'flag':
    case 'yesNo':
      return flagIn(values, name);
    case 'count':
      return countIn(values, name);
    case 'names':
    case 'boxes': {
      const list = namesIn(values, name);
      // Numbers of 64 bits stay text.
      return field.high === null ? list : list.map(Number);
    }
    case 'pairs':
      return pairsIn(values, name);
    case 'lines':
      // As it was typed: blanks around it are part of it.
      return String(value ?? '');
    case 'time':
      return textIn(values, name) && String(Date.parse(textIn(values, name)));
    default:
      return textIn(values, name);
  }
}

/** The form of an order, and what of the order comes of what is filled in. */
export function describedForm(
  order: DescribedName,
  form: Form<object>,
): OrderKind<Record<string, unknown>> {
  const asked = fieldsOf(order, form);
  const all = [...(form.own ?? []), ...asked];
  return {
    word: form.word ?? order,
    target: form.target,
    fieldsOf: (values) => shownOf(all, values),
    planOf: (values) => {
      const shown = shownOf(all, values);
      const filled = asked.map((field) => {
        const chosen = shown.includes(field) ? values[field.name] : undefined;
        const value = givenIn(field, chosen === undefined ? field.initial : chosen);
        return [field.name, value === '' ? null : value];
      });
      return { ...form.given, ...Object.fromEntries(filled) };
    },
  };
}

/** The form of an order that is planned: all but what is given is described by the control plane. */
export function orderForm<Name extends OrderName>(
  order: Name,
  form: Form<Partial<NonNullable<PlanInput[Name]>>>,
): OrderKind {
  const kind = describedForm(order, form);
  // Its fields and their types are those of the order, which both are made from.
  return {
    ...kind,
    planOf: (values) => ({ [order]: kind.planOf(values) }) as unknown as PlanInput,
  };
}
