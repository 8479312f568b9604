import { MultiSelect, TagsInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { GivenInput } from './given-input';
import classes from './order-form.module.css';

const shownChoicesMax = 50;

/** Several names: some of those that are known, or whatever is typed where none are. */
export function NamesInput({ given, field, value, onChange }: GivenInput<'names'>) {
  const { t } = useTranslation();
  const list = Array.isArray(value) ? value : [];
  if (field.known === null) {
    return (
      <TagsInput
        {...given}
        className={classes.wide ?? ''}
        value={list}
        onChange={onChange}
        splitChars={[',', ' ']}
      />
    );
  }
  return (
    <MultiSelect
      {...given}
      className={classes.wide ?? ''}
      data={[...field.known]}
      placeholder={list.length === 0 ? t(`field.${field.name}.all`) : ''}
      value={list}
      onChange={onChange}
      limit={shownChoicesMax}
      searchable
      clearable
    />
  );
}
