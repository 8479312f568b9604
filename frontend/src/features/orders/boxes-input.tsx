import { Checkbox } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { GivenInput } from './given-input';
import classes from './order-form.module.css';
import { say } from './say';

/** Some of a few, each with a box. */
export function BoxesInput({ given, field, value, onChange }: GivenInput<'boxes'>) {
  const { t } = useTranslation();
  const { name, ...described } = given;
  return (
    <Checkbox.Group
      {...described}
      className={classes.wide ?? ''}
      value={Array.isArray(value) ? value : []}
      onChange={onChange}
    >
      <div className={classes.boxes}>
        {field.choices.map((choice) => (
          <Checkbox
            key={choice.value}
            name={name}
            value={choice.value}
            label={say(t, choice.words)}
          />
        ))}
      </div>
    </Checkbox.Group>
  );
}
