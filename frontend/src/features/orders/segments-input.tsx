import { Input, SegmentedControl } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { GivenInput } from './given-input';
import { say } from './say';

/** One of two, both in sight. */
export function SegmentsInput({ given, field, value, onChange }: GivenInput<'choice'>) {
  const { t } = useTranslation();
  const id = useId();
  const { name, ...described } = given;
  return (
    <Input.Wrapper {...described} id={id} labelElement="div" labelProps={{ id: `${id}-label` }}>
      <SegmentedControl
        name={name}
        aria-labelledby={`${id}-label`}
        aria-describedby={described.description ? `${id}-description` : undefined}
        value={typeof value === 'string' ? value : ''}
        onChange={onChange}
        data={field.choices.map((choice) => ({ value: choice.value, label: say(t, choice.words) }))}
        fullWidth
      />
    </Input.Wrapper>
  );
}
