import { useTranslation } from 'react-i18next';
import { Panel } from '@/components/panel';
import { CheckList } from './check-list';
import { CompareButton } from './compare-button';
import { CopyOrder } from './copy-order';
import { DifferenceTable } from './difference-table';
import { LongList } from './long-list';
import { MovesPanel } from './moves-panel';
import { doneCount, type Operation } from './operation';
import { PlanFacts } from './plan-facts';
import { segmentsApart } from './plan-segments';
import classes from './plan-view.module.css';
import { SegmentsPanel } from './segments-panel';
import { StepList } from './step-list';
import type { Comparison } from './use-standing';

type PlanViewProps = {
  operation: Operation;
  isStale: boolean;
  isVoid: boolean;
  comparison: Comparison | undefined;
};

/**
 * The plan of any operation in the same blocks. Nothing here knows a kind: what a kind has to
 * say stands in its plan.
 */
export function PlanView({ operation, isStale, isVoid, comparison }: PlanViewProps) {
  const { t } = useTranslation();
  const { plan, steps } = operation;
  const { segments } = segmentsApart(plan.facts);
  const isPlanned = operation.confirmedAt === null;
  const progress = t('operation.progress', { done: doneCount(steps), total: steps.length });
  const happens = (
    <Panel
      title={t(isPlanned ? 'plan.steps' : 'plan.journal')}
      aside={isPlanned ? <CopyOrder operation={operation} /> : progress}
    >
      <LongList label={t('plan.everyStep')} count={steps.length}>
        <StepList operation={operation} isStale={isStale} />
      </LongList>
    </Panel>
  );
  return (
    <>
      {isPlanned ? null : <MovesPanel operation={operation} segments={segments} />}
      {isPlanned ? null : happens}
      <div className={classes.plan} data-void={isVoid}>
        {segments === null ? null : (
          <div className={classes.across}>
            <SegmentsPanel {...segments} />
          </div>
        )}
        <div className={classes.column}>
          {isPlanned ? happens : null}
          <Panel title={t('plan.changes')}>
            <LongList label={t('plan.everyChange')} count={plan.changes.length}>
              <DifferenceTable changes={plan.changes} />
            </LongList>
          </Panel>
          <Panel title={t('plan.impact')}>
            {plan.impact.length > 0 ? (
              <ul className={classes.sentences}>
                {plan.impact.map((sentence) => (
                  <li key={sentence}>{sentence}</li>
                ))}
              </ul>
            ) : (
              <p className={classes.lead}>{t('plan.noImpact')}</p>
            )}
          </Panel>
        </div>
        <div className={classes.column}>
          <Panel title={t('plan.checks')}>
            {plan.loss === null ? null : (
              <p className={classes.loss}>{t('plan.loss', { loss: plan.loss })}</p>
            )}
            <CheckList checks={plan.checks} />
          </Panel>
          <Panel title={t('plan.undo')}>
            <p className={classes.sentence}>{plan.wayBack || t('plan.noUndo')}</p>
          </Panel>
          <Panel
            title={t('plan.facts')}
            aside={comparison ? <CompareButton comparison={comparison} /> : null}
          >
            <PlanFacts plan={plan} />
          </Panel>
        </div>
      </div>
    </>
  );
}
