import { Checkbox, NumberInput, Textarea, TextInput } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { BoxesInput } from './boxes-input';
import { ChoiceInput } from './choice-input';
import type { Field, Value, Words } from './field';
import { FieldHint, hasHint } from './field-hint';
import { NamesInput } from './names-input';
import classes from './order-form.module.css';
import { say } from './say';
import { YesNoInput } from './yes-no-input';

type FieldInputProps = {
  /** The family of words of the order. */
  word: string;
  field: Field;
  value: Value;
  error: string | undefined;
  isFirst: boolean;
  /** The first one is what keys of the page lead to. */
  isAct: boolean;
  onChange: (value: Value) => void;
};

/** One field of an order with its name, what it may hold, and what is wrong with what it holds. */
export function FieldInput(props: FieldInputProps) {
  const { word, field, value, error, isFirst, isAct, onChange } = props;
  const { t } = useTranslation();
  const { name } = field;
  const text = typeof value === 'string' ? value : '';
  const given = {
    name,
    // A setting of a broker goes by its own name.
    label: t([`order.${word}.field.${name}`, `field.${name}`], { defaultValue: name }),
    description: hasHint(field) ? <FieldHint field={field} /> : undefined,
    error,
    // The cursor stands where one begins, unless a list would open over the form.
    ...(isFirst && field.kind === 'name' ? { 'data-autofocus': true } : {}),
    ...(isFirst && isAct ? { 'data-act': true } : {}),
  };
  switch (field.kind) {
    case 'flag':
      return (
        <Checkbox
          {...given}
          // What a flag means is all there is to say of it, and differs from order to order.
          label={field.text ?? given.label}
          description={undefined}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'yesNo':
      return <YesNoInput given={given} field={field} value={value} onChange={onChange} />;
    case 'choice':
      return <ChoiceInput given={given} field={field} value={value} onChange={onChange} />;
    case 'boxes':
      return <BoxesInput given={given} field={field} value={value} onChange={onChange} />;
    case 'count':
      return (
        <NumberInput
          {...given}
          placeholder={field.initial === null ? absenceOf(t, field) : ''}
          value={typeof value === 'number' ? value : text}
          onChange={(count) => onChange(count === '' ? null : count)}
          min={field.low}
          max={field.high}
          clampBehavior="none"
          allowDecimal={false}
        />
      );
    case 'names':
      return <NamesInput given={given} field={field} value={value} onChange={onChange} />;
    case 'time':
      return (
        <TextInput
          {...given}
          type="datetime-local"
          step={1}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case 'lines':
    case 'pairs':
      return (
        <Textarea
          {...given}
          className={classes.wide ?? ''}
          rows={field.kind === 'lines' ? 6 : 2}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
      );
    default:
      return (
        <TextInput
          {...given}
          placeholder={emptyOf(t, field)}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
      );
  }
}

/** What an empty text or number means; nothing where its order does not say it. */
function emptyOf(t: TFunction, field: Field): string {
  return 'absence' in field && field.absence ? say(t, field.absence) : '';
}

function absenceOf(t: TFunction, given: { absence: Words | null; present: number | null }): string {
  const { absence, present: now } = given;
  if (absence === null) return '';
  return now === null ? say(t, absence) : t('absence.asItIsNow', { now });
}
