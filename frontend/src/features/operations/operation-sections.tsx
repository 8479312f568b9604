import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Staleness } from '@/lib/staleness';
import { ConfirmForm } from './confirm-form';
import type { Operation } from './operation';
import { OperationFacts } from './operation-facts';
import { OperationNotice } from './operation-notice';
import classes from './operation-sections.module.css';
import { PlanView } from './plan-view';
import { ReadBackTable } from './read-back-table';
import { ReviewForm } from './review-form';
import type { Standing } from './standing';
import type { Comparison } from './use-standing';

type OperationSectionsProps = {
  operation: Operation;
  staleness: Staleness;
  standing: Standing | undefined;
  /** What is typed beneath a plan that is void carries nothing out. */
  isVoided: boolean;
  comparison: Comparison | undefined;
  /** The button of what is best done next. */
  offer: ReactNode;
};

/** An operation from its plan to its outcome, region by region. */
export function OperationSections(props: OperationSectionsProps) {
  const { operation, staleness, standing, isVoided, comparison, offer } = props;
  const { t } = useTranslation();
  return (
    <>
      {standing ? (
        <OperationNotice standing={standing} isStale={staleness.isStale} action={offer} />
      ) : null}
      <OperationFacts operation={operation} />
      {operation.reason === null ? null : (
        <p className={classes.reason}>
          <strong>{t('operation.reason')}</strong> {operation.reason}
        </p>
      )}
      {operation.readBack.length > 0 ? (
        <ReadBackTable readBack={operation.readBack} isStale={staleness.isStale} />
      ) : null}
      <PlanView
        operation={operation}
        isStale={staleness.isStale}
        isVoid={isVoided}
        comparison={comparison}
      />
      {operation.actions.includes('CONFIRM') && !isVoided ? (
        <ConfirmForm operation={operation} />
      ) : null}
      {operation.actions.includes('APPROVE') && !isVoided ? (
        <ReviewForm operation={operation} />
      ) : null}
      {operation.whyNotUndo === null ? null : (
        <p className={classes.reason}>
          <strong>{t('operation.whyNotUndo')}</strong> {operation.whyNotUndo}
        </p>
      )}
    </>
  );
}
