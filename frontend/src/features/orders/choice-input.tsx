import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { GivenInput } from './given-input';
import { say } from './say';
import { SegmentsInput } from './segments-input';

/** One of several, or none where that is allowed: what none means is shown. */
export function ChoiceInput(props: GivenInput<'choice'>) {
  const { given, field, value, onChange } = props;
  const { t } = useTranslation();
  const { absence, choices, initial } = field;
  if (choices.length === 2 && absence === null && initial) return <SegmentsInput {...props} />;
  return (
    <Select
      {...given}
      data-name={given.name}
      data={choices.map((choice) => ({ value: choice.value, label: say(t, choice.words) }))}
      placeholder={absence === null ? t('absence.choose') : say(t, absence)}
      value={typeof value === 'string' && value !== '' ? value : null}
      onChange={onChange}
      clearable={absence !== null}
      allowDeselect={absence !== null}
    />
  );
}
