import { longFrom } from './long-list';
import type { Operation } from './operation';
import { StepItem } from './step-item';
import classes from './step-list.module.css';

type StepListProps = { operation: Operation; isStale: boolean };

/** The steps in their order, and once they run the journal of each. */
export function StepList({ operation, isStale }: StepListProps) {
  const isPlanned = operation.confirmedAt === null;
  return (
    <ol className={classes.steps}>
      {operation.steps.map((step) => (
        <StepItem
          key={step.position}
          step={step}
          isPlanned={isPlanned}
          isFolded={operation.steps.length > longFrom}
          isStale={isStale}
        />
      ))}
    </ol>
  );
}
