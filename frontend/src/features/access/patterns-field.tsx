import { TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';

type PatternsFieldProps = { value: string; onChange: (value: string) => void };

/** Which clusters a role or a token holds in, by patterns of their names. */
export function PatternsField({ value, onChange }: PatternsFieldProps) {
  const { t } = useTranslation();
  return (
    <TextInput
      label={t('patterns.label')}
      description={t('patterns.hint')}
      placeholder="*"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      autoComplete="off"
      spellCheck={false}
    />
  );
}
