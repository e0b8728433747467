module bindings

go 1.19

require bulkhead v0.0.0

replace bulkhead => ../../../sdk/go
