import { MultiSelect, TagsInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { GivenInput } from './given-input';
import classes from './order-form.module.css';
import { say } from './say';

const shownChoicesMax = 50;

/** Several names: some of those that are known, or whatever is typed where none are. */
export function NamesInput({ given, field, value, onChange }: GivenInput<'names'>) {
  const { t } = useTranslation();
  const list: string[] = Array.isArray(value) ? value : [];
  const shared = {
    ...given,
    'data-name': given.name,
    className: classes.wide ?? '',
    placeholder: list.length === 0 ? say(t, field.absence) : '',
    value: list,
    onChange,
  };
  if (field.known === null) return <TagsInput {...shared} splitChars={[',', ' ']} />;
  const data = [...field.known];
  return <MultiSelect {...shared} data={data} limit={shownChoicesMax} searchable clearable />;
}
