import { Checkbox, NumberInput, Textarea, TextInput } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { ChoiceInput } from './choice-input';
import type { Field, Value } from './field';
import { NamesInput } from './names-input';
import classes from './order-form.module.css';

type FieldInputProps = {
  field: Field;
  value: Value;
  error: string | undefined;
  isFirst: boolean;
  onChange: (value: Value) => void;
};

/** One field of an order with its name, what it may hold, and what is wrong with what it holds. */
export function FieldInput({ field, value, error, isFirst, onChange }: FieldInputProps) {
  const { t } = useTranslation();
  const { name } = field;
  const text = typeof value === 'string' ? value : '';
  const given = {
    name,
    // A setting of a broker goes by its own name.
    label: t(`field.${name}.label`, { defaultValue: name }),
    description: t(`field.${name}.hint`, { defaultValue: '', ...limitsOf(field) }) || undefined,
    error,
    // The cursor stands where one begins, unless a list would open over the form.
    ...(isFirst && field.kind === 'name' ? { 'data-autofocus': true } : {}),
  };
  switch (field.kind) {
    case 'flag':
      return (
        <Checkbox
          {...given}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'yesNo':
    case 'choice':
      return <ChoiceInput given={given} field={field} value={value} onChange={onChange} />;
    case 'count':
      return (
        <NumberInput
          {...given}
          placeholder={field.initial === null ? asItIs(t, field.present) : ''}
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
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
      );
  }
}

function asItIs(t: TFunction, now: number | null | undefined): string {
  return typeof now === 'number' ? t('field.asItIsNow', { now }) : t('field.asItIs');
}

function limitsOf(field: Field): Record<string, string | number> {
  switch (field.kind) {
    case 'name':
      return { max: field.lengthMax };
    case 'count':
      return { low: field.low, high: field.high };
    default:
      return {};
  }
}
