import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import type { PlanInput } from '@/gql/operations';
import {
  fieldNamed,
  initialValue,
  type Problem,
  problemsOf,
  type Value,
  type Values,
} from './field';
import { FieldInput } from './field-input';
import classes from './order-form.module.css';
import type { OrderKind } from './order-kind';

type OrderFormProps<Order> = {
  kind: OrderKind<Order>;
  isBusy: boolean;
  /** Why the control plane refused what was given. */
  refusal: Error | null;
  /** The words of the button, and beside it: what happens next. */
  button?: string;
  hint?: string;
  onPlan: (order: Order) => void;
};

/** Any order as a form: its fields with what they may hold, and what is wrong beside each. */
export function OrderForm<Order = PlanInput>({
  kind,
  isBusy,
  refusal,
  button,
  hint,
  onPlan,
}: OrderFormProps<Order>) {
  const { t } = useTranslation();
  const [given, setGiven] = useState<Values>({});
  const [isTried, setIsTried] = useState(false);
  const fields = kind.fieldsOf(given);
  const values: Values = Object.fromEntries(
    fields.map((field) => {
      const told = given[field.name];
      return [field.name, told === undefined ? initialValue(field) : told];
    }),
  );
  const problems = problemsOf(fields, values);
  const refused = refusal ? fieldNamed(refusal) : undefined;
  const told = (problem: Problem | undefined) =>
    problem && t(`problem.${problem.word}`, problem.values);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setIsTried(true);
    const wrong = fields.find(({ name }) => problems[name]);
    if (!wrong) return onPlan(kind.planOf(values));
    event.currentTarget.querySelector<HTMLElement>(`[name="${CSS.escape(wrong.name)}"]`)?.focus();
  };
  return (
    <form className={classes.form} onSubmit={submit} noValidate>
      <p className={classes.lead}>{t(`order.${kind.word}.lead`)}</p>
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          isFirst={field === fields[0]}
          value={values[field.name] ?? null}
          error={
            (isTried ? told(problems[field.name]) : undefined) ??
            (refused === field.name ? refusal?.message : undefined)
          }
          onChange={(value: Value) => setGiven((now) => ({ ...now, [field.name]: value }))}
        />
      ))}
      <div className={classes.end}>
        <WriteButton type="submit" size="sm" loading={isBusy}>
          {button ?? t('order.plan')}
        </WriteButton>
        <span>{hint ?? t('order.planHint')}</span>
      </div>
    </form>
  );
}
