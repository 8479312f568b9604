import { useTranslation } from 'react-i18next';
import { FieldList } from './field-list';
import type { Operation } from './operation';
import { segmentsApart } from './plan-segments';
import classes from './plan-view.module.css';
import { inOneOrder, isFields } from './values';

/** The facts that a plan was made from: those that make it void when they move, and the rest. */
export function PlanFacts({ plan }: { plan: Operation['plan'] }) {
  const { t } = useTranslation();
  const held = Object.fromEntries(plan.preconditions.map(({ name, value }) => [name, value]));
  const rest = inOneOrder(segmentsApart(plan.facts).rest);
  return (
    <>
      <p className={classes.lead}>{t('plan.factsLead')}</p>
      <FieldList fields={held} />
      {isFields(rest) && Object.keys(rest).length > 0 ? (
        <>
          <h3 className={classes.further}>{t('plan.further')}</h3>
          <FieldList fields={rest} />
        </>
      ) : null}
    </>
  );
}
