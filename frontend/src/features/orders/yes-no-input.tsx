import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { GivenInput } from './given-input';

/** Yes, no, or as it is now, which is said. */
export function YesNoInput({ given, field, value, onChange }: GivenInput<'yesNo'>) {
  const { t } = useTranslation();
  const now = field.present === null ? undefined : t(field.present ? 'word.yes' : 'word.no');
  return (
    <Select
      {...given}
      data={[
        { value: 'yes', label: t('word.yes') },
        { value: 'no', label: t('word.no') },
      ]}
      placeholder={now === undefined ? t('absence.asItIs') : t('absence.asItIsNow', { now })}
      value={typeof value === 'boolean' ? (value ? 'yes' : 'no') : null}
      onChange={(word) => onChange(word === null ? null : word === 'yes')}
      clearable
    />
  );
}
