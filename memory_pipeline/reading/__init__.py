"""Reading: the one place where texts become questions to a model, answers, and verified statements; and the classifier
that stands in where there is no model. Values in, values out: nothing here opens a store."""
