import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { ErrorNotice } from '@/components/error-notice';
import classes from './route-error.module.css';

/** A page that could not be drawn, or a session that could not be asked for. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <div className={classes.frame}>
      <ErrorNotice
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={retry}
      />
    </div>
  );
}
