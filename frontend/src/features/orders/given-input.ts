import type { ReactNode } from 'react';
import type { Field, Value } from './field';

/** What every input of an order is given, whatever it looks like. */
export type GivenInput<Kind extends Field['kind']> = {
  given: {
    name: string;
    label: string;
    description: ReactNode;
    error: string | undefined;
  };
  field: Extract<Field, { kind: Kind }>;
  value: Value;
  onChange: (value: Value) => void;
};
