import type { PlanInput } from '@/gql/operations';
import type { Field, Values } from './field';

/** One order as a form: what is asked for, given what is filled in so far, and what it comes to. */
export type OrderKind<Order = PlanInput> = {
  /** The family of words for its title, its lead, its button, and the labels that are its own. */
  word: string;
  /** What the title names. */
  target: string;
  fieldsOf: (values: Values) => readonly Field[];
  planOf: (values: Values) => Order;
};
