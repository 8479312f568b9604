import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { Advice } from '@/components/advice';
import type { Field } from './field';

type Limit = { word: string; values: Record<string, string | number> };

const intMax = 2 ** 31 - 1;

function limitOf(field: Field): Limit | undefined {
  switch (field.kind) {
    case 'name':
      return { word: 'name', values: { max: field.lengthMax } };
    case 'count':
    case 'number': {
      const { low, high } = field;
      if (low === null) return undefined;
      const isOpen = high === null || high === intMax;
      return isOpen ? { word: 'from', values: { low } } : { word: 'range', values: { low, high } };
    }
    case 'names':
      return field.known === null ? { word: 'typed', values: {} } : undefined;
    case 'pairs':
    case 'time':
      return { word: field.kind, values: {} };
    default:
      return undefined;
  }
}

/** Whether a field has anything to say below its label. */
export function hasHint(field: Field): boolean {
  return field.text !== undefined || limitOf(field) !== undefined;
}

/** What a field means, as its order describes it, and what it may hold. */
export function FieldHint({ field }: { field: Field }) {
  const { t } = useTranslation();
  const limit = limitOf(field);
  return (
    <Fragment>
      {field.text === undefined ? null : <Advice>{field.text}</Advice>}
      {limit && ` ${t(`limit.${limit.word}`, limit.values)}`}
    </Fragment>
  );
}
