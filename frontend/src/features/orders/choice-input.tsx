import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { GivenInput } from './given-input';

/** One of a few; where nothing is chosen it stays as it is, which is said. */
export function ChoiceInput({ given, field, value, onChange }: GivenInput<'yesNo' | 'choice'>) {
  const { t } = useTranslation();
  if (field.kind === 'choice') {
    return (
      <Select
        {...given}
        data={field.choices.map((choice) => ({
          value: choice.value,
          label: choice.word === null ? choice.value : t(choice.word),
        }))}
        placeholder={field.none === null ? '' : t(field.none)}
        value={typeof value === 'string' ? value : null}
        onChange={onChange}
        clearable={field.none !== null}
        allowDeselect={field.none !== null}
      />
    );
  }
  const now = field.present === null ? undefined : t(field.present ? 'word.yes' : 'word.no');
  return (
    <Select
      {...given}
      data={[
        { value: 'yes', label: t('word.yes') },
        { value: 'no', label: t('word.no') },
      ]}
      placeholder={now === undefined ? t('field.asItIs') : t('field.asItIsNow', { now })}
      value={typeof value === 'boolean' ? (value ? 'yes' : 'no') : null}
      onChange={(word) => onChange(word === null ? null : word === 'yes')}
      clearable
    />
  );
}
