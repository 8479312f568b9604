import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import type { PlanInput } from '@/gql/operations';
import { fieldNamed, type Problem, problemsOf, type Value, type Values } from './field';
import { FieldInput } from './field-input';
import classes from './order-form.module.css';
import type { OrderKind } from './order-kind';

type OrderFormProps<Order> = {
  kind: OrderKind<Order>;
  isBusy: boolean;
  /** Why the control plane refused what was given. */
  refusal: Error | null;
  onPlan: (order: Order) => void;
  /** What the page keeps of what is filled in, and how it is given the rest. */
  kept?: Values;
  onChange?: (name: string, value: Value) => void;
  /** What would come of it, as far as that is known before a plan. */
  preview?: ReactNode;
  /** It stands in the page, below something else. */
  isInPage?: boolean;
  /** Keys of the page lead to its first field. */
  isAct?: boolean;
};

/** Any order as a form: its fields with what they may hold, and what is wrong beside each. */
export function OrderForm<Order = PlanInput>({
  kind,
  isBusy,
  refusal,
  onPlan,
  kept,
  onChange,
  preview,
  isInPage = false,
  isAct = false,
}: OrderFormProps<Order>) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState<Values>({});
  const given = { ...typed, ...kept };
  const [isTried, setIsTried] = useState(false);
  const fields = kind.fieldsOf(given);
  const values: Values = Object.fromEntries(
    fields.map((field) => {
      const chosen = given[field.name];
      return [field.name, chosen === undefined ? field.initial : chosen];
    }),
  );
  const problems = problemsOf(fields, values);
  const refused = refusal ? fieldNamed(refusal) : undefined;
  const textOf = (problem: Problem | undefined) =>
    problem && t(`problem.${problem.word}`, problem.values);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setIsTried(true);
    const wrong = fields.find(({ name }) => problems[name]);
    if (!wrong) return onPlan(kind.planOf(values));
    const name = CSS.escape(wrong.name);
    // A list has its name on a hidden input.
    const input = `[name="${name}"]:not([type="hidden"]), [data-name="${name}"]`;
    event.currentTarget.querySelector<HTMLElement>(input)?.focus();
  };
  return (
    <form
      className={`${classes.form} ${isInPage ? classes.inPage : ''}`}
      onSubmit={submit}
      noValidate
    >
      <p className={classes.lead}>{t(`order.${kind.word}.lead`)}</p>
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          word={kind.word}
          field={field}
          isFirst={field === fields[0]}
          isAct={isAct}
          value={values[field.name] ?? null}
          error={
            (isTried ? textOf(problems[field.name]) : undefined) ??
            (refused === field.name ? refusal?.message : undefined)
          }
          onChange={(value: Value) => {
            setTyped((now) => ({ ...now, [field.name]: value }));
            onChange?.(field.name, value);
          }}
        />
      ))}
      {preview && (
        <div className={classes.wide} role="status">
          {preview}
        </div>
      )}
      <div className={classes.end}>
        <WriteButton type="submit" size="sm" loading={isBusy}>
          {t([`order.${kind.word}.button`, 'order.plan'])}
        </WriteButton>
        <span>{t([`order.${kind.word}.next`, 'order.planHint'])}</span>
      </div>
    </form>
  );
}
